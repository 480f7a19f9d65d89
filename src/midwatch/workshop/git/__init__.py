"""All git commands on mirrors and clones."""
