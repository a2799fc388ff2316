"""Passes: functions from a graph to a graph that computes the same."""
