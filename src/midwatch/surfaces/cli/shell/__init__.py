"""What every verb uses: the client, the reader without a server, the terminal."""
