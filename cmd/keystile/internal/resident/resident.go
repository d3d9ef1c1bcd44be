package resident

import "runtime/debug"

// GiveBack gives back memory that is not in use: garbage, and pages of the program's file. It takes some milliseconds,
// so it is for a moment at which nobody waits. Pages that the system does not take stay.
func GiveBack() {
	debug.FreeOSMemory()
	giveBackProgram()
}
