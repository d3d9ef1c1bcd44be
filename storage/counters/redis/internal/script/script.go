// Package script holds what the server runs for each act, and how an act's keys are named.
//
// Every script reads the server's clock, does all of an act, and touches keys of one hash slot.
package script

import _ "embed"

var (
	//go:embed common.lua
	commonLua string
	//go:embed window.lua
	windowLua string
	//go:embed network.lua
	networkLua string
	//go:embed client.lua
	clientLua string

	//go:embed app.lua
	appLua string
	//go:embed first.lua
	firstLua string
	//go:embed take.lua
	takeLua string
	//go:embed wait.lua
	waitLua string
	//go:embed undo.lua
	undoLua string
	//go:embed wider.lua
	widerLua string
	//go:embed attempts.lua
	attemptsLua string
	//go:embed delays.lua
	delaysLua string
	//go:embed marker.lua
	markerLua string
)

// The scripts, each as its server gets it.
var (
	App      = appLua
	Take     = firstLua + commonLua + windowLua + networkLua + clientLua + takeLua
	Wait     = commonLua + windowLua + clientLua + waitLua
	Undo     = commonLua + windowLua + networkLua + clientLua + undoLua
	Wider    = commonLua + windowLua + networkLua + widerLua
	Attempts = commonLua + attemptsLua
	Delays   = commonLua + delaysLua
	Marker   = markerLua
)
