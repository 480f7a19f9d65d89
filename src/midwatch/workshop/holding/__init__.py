"""The holder: one small process per job that outlives the server and keeps control of the agent's process tree."""
