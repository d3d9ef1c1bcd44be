package command

// userActs are the acts on users and what is theirs.
var userActs = []act{
	{
		name: "user factors reset", console: "DELETE /api/console/users/{sub}/factors", command: "user factors {username} --reset",
	},
}
