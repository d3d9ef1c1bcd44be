package command

import "testing"

// Every page of the console, as an administrator sees it in a service that has been used.
func TestEachPageOfTheConsoleIsFitForEverybody(t *testing.T) {
	each(t, []reader{english, chinese}, func(v *walkthrough) {
		v.operator()
		for _, page := range consolePages {
			v.at(page.path)
			v.look("console-" + page.name)
		}
		v.quiet()
	})
}

// consolePages are the pages that need nothing in their address.
var consolePages = []struct{ name, path string }{
	{"nodes", "/console/nodes"},
	{"overview", "/console/"},
	{"usage", "/console/usage"},
	{"settlements", "/console/settlements"},
}

// operator signs in to the console as its first administrator.
func (v *walkthrough) operator() {
	v.t.Helper()
	v.at("/console/nodes")
	v.says("Sign in")
	v.password()
	v.Shown("main")
}
