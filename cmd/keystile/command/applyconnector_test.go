package command

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The running service goes by the mapping at the next sign-in.
func TestAppliedMappingPutsUsersOfAConnectorIntoGroups(t *testing.T) {
	s := newStreet(t)
	s.program("open", "")
	file := filepath.Join(t.TempDir(), "groups.yaml")
	apply := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		must(t, "apply", "-f", file, "--prune", "--data", s.data)
	}
	members := func(group string, want int) {
		t.Helper()
		shown := must(t, "group", "show", group, "--data", s.data)
		if all, is := shown["members"].([]any); !is || len(all) != want {
			t.Errorf("the members of %s are %v, want %d", group, shown["members"], want)
		}
	}
	omar := s.newcomer()
	comes := func() {
		t.Helper()
		if omar.comes("staff"); !omar.signedIn() {
			t.Fatalf("not signed in: %s", omar.page)
		}
	}
	mapping := "kind: connector\nname: staff\ngroups_claim: name\ngroups_map: {Omar Haddad: %s}\n"
	apply(fmt.Sprintf(mapping, "omars"))
	comes()
	members("omars", 1)
	apply(fmt.Sprintf(mapping, "others"))
	members("omars", 1) // until the next sign-in
	comes()
	members("omars", 0)
	members("others", 1)
	apply("kind: group\nname: kept\n")
	comes()
	members("others", 1) // nobody says anything of groups any more
	code, out, errs := command(t, "", "export", "--data", s.data)
	if code != 0 || strings.Contains(out, "kind: connector") {
		t.Errorf("exported %d %s %s", code, out, errs)
	}
}
