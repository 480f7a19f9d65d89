"""The live stream: each entry encoded and rendered once for every viewer."""
