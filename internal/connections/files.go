package connections

// Room returns how many connections the process can hold, at a listener that everybody may
// reach and at one for operators. It follows from the files that the process may open: a
// call that is handed on needs a second one, and the store, the logs and the operators
// some more.
func Room() (public, operators int) { return share(files()) }

func share(files int) (public, operators int) {
	reserve := min(files/4, 256)
	return max(1, (files-reserve)/2), max(1, reserve/2)
}
