"""The only way out: each effect is judged again, happens at most once per key, and is recorded."""
