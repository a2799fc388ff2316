"""Where the time of a small add goes: profiles of one loop in several libraries, sorted into buckets.

The command is ``tensoriter overhead`` (tensoriter/commands/overhead.py); docs/where-the-time-goes.md has
its answers. subjects.py is what is measured, measured.py the process that runs it, process.py starts it
under a collector: callgrind.py counts instructions, perf.py samples time. Both give a profile.Profile,
which attribution.py sorts by tables of patterns (buckets.py, buckets/*.txt); report.py and picture.py
show it.

This folder is installed as tensoriter.overhead (a link there, which wheels and archives hold as files).
"""
