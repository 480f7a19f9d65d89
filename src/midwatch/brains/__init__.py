"""What proposes: models, command lines, and our own rules. A brain never acts."""
