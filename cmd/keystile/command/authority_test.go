package command

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

var writeAuthority = flag.Bool("write-authority", false,
	"write testdata/authority.txt anew: read every line of what changes")

const authorityFile = "testdata/authority.txt"

// The table of rights has each credential at each endpoint, with an object of its own,
// another user's and one that is not there. The table in testdata/authority.txt
// was decided by a person; this test finds out whether it is true. An endpoint without a
// line, or a line without an endpoint, is a failure.
func TestKeyOpensWhatItMustAndNothingMore(t *testing.T) {
	if testing.Short() {
		t.Skip("tries each key at each endpoint")
	}
	want := readAuthority(t)
	var out strings.Builder
	for _, row := range rows {
		for _, object := range row.objects() {
			name := row.name(object)
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					cells := measure(t, row, object)
					line := fmt.Sprintf("%-66s", name)
					for _, cell := range cells {
						line += fmt.Sprintf(" %-9s", cell)
					}
					fmt.Fprintln(&out, strings.TrimRight(line, " "))
					if *writeAuthority {
						return
					}
					if len(want[name]) != len(cells) {
						t.Fatalf("%s has %d cells written down, of %d: decide them, and write %s", name, len(want[name]), len(cells),
							authorityFile)
					}
					for i, cell := range cells {
						if cell != want[name][i] {
							t.Errorf("%s as %s: %s, and written down is %s", name, credentials[i].name, cell, want[name][i])
						}
					}
				})
			})
			delete(want, name)
		}
	}
	if *writeAuthority {
		writeTable(t, out.String())
		return
	}
	for name := range want {
		t.Errorf("%s is written down, and is no row of the test", name)
	}
}

// Each path and method that is served has its row.
func TestEndpointHasItsRowInTheTable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		covered := map[string]bool{}
		for _, row := range rows {
			covered[row.method+" "+row.pattern()] = true
		}
		served := w.endpoints()
		if len(served) < 60 {
			t.Fatalf("only %d endpoints are found: the test looks in the wrong place", len(served))
		}
		for _, endpoint := range served {
			if !covered[endpoint] {
				t.Errorf("%s has no row: say who may, and who may not", endpoint)
			}
			delete(covered, endpoint)
		}
		for endpoint := range covered {
			t.Errorf("%s has a row, and is not served", endpoint)
		}
	})
}

// readAuthority reads the cells that are written down, by the name of their line.
func readAuthority(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(authorityFile)
	if err != nil && !*writeAuthority {
		t.Fatal(err)
	}
	all := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) == 0 || f[0] == "#" {
			continue
		}
		name := strings.Join(f[:3], " ")
		if all[name] != nil {
			t.Errorf("%s is written down twice", name)
		}
		all[name] = f[3:]
	}
	return all
}

// legend stands above the table.
const legend = `# Who may do what. A line is an endpoint with an object: of the caller's own, of somebody
# else's, or one that is not there; - where there is none. A cell is the status, then, behind
# a colon, what the answer shows and what was written:
#
#   o  shows the caller's own object        a  an application        k  a ticket of a sign-in
#   e  shows somebody else's object         r  an order              t  a code or refresh token
#                                           u  a user                v  a revocation
#                                           l  a way to sign in      m  that two have met
#                                           c  a capability          n  a consent
#                                           s  a session             g  a group, or who is in it
#                                                                    x  anything else
#
# The credentials, in the order of the columns:
#
`

func writeTable(t *testing.T, lines string) {
	t.Helper()
	head := legend
	for _, c := range credentials {
		head += fmt.Sprintf("#   %-9s %s\n", c.name, c.about)
	}
	head += "#\n" + fmt.Sprintf("# %-64s", "endpoint and object")
	for _, c := range credentials {
		head += fmt.Sprintf(" %-9s", c.name)
	}
	if err := os.WriteFile(authorityFile, []byte(strings.TrimRight(head, " ")+"\n"+lines), 0o644); err != nil {
		t.Fatal(err)
	}
}

// row is one endpoint, as it is asked. In its texts {own}-like words stand for values of the
// object at hand, see world.fill.
type row struct {
	method, path string
	query, body  string // a body that begins with { is JSON, else a form
	extra        string // tells rows of one endpoint apart
	about        bool   // there is an object: own, other and absent
	header       map[string]string
}

func (r row) name(object string) string { return r.method + " " + r.path + r.extra + " " + object }

func (r row) pattern() string { return r.path }

func (r row) objects() []string {
	if r.about {
		return []string{"own", "other", "absent"}
	}
	return []string{"-"}
}

// measure asks as each credential. Each time there are new people with new objects.
func measure(t *testing.T, r row, object string) (cells []string) {
	w := newWorld(t)
	for _, c := range credentials {
		cells = append(cells, w.ask(c, r, object))
	}
	return cells
}

// endpoints are the methods and paths that are served. With .php behind it a path is the same.
func (w *world) endpoints() (all []string) {
	patterns := w.patterns()
	for _, pattern := range patterns {
		if twin, ok := strings.CutSuffix(pattern, ".php"); ok && slices.Contains(patterns, twin) {
			continue
		}
		methods := w.methods(pattern)
		for _, m := range slices.Sorted(maps.Keys(methods)) {
			all = append(all, m+" "+pattern)
		}
	}
	return all
}
