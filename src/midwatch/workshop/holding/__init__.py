"""The holder: one small process per job that outlives the server and never lets go of the agent's tree."""
