"""The night: the loop, jobs, asks, and what wakes them. Start reading at flow.py."""
