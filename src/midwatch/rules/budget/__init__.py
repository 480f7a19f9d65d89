"""Money, time, provider quota and network limits."""
