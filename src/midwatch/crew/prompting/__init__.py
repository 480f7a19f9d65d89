"""Prompts: versioned template files filled with facts; untrusted text is fenced."""
