"""The night: the loop, jobs, asks and timers. Start reading at flow.py."""
