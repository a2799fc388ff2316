"""From a captured function to a plan: trace, graph, passes, plan, debug handles."""
