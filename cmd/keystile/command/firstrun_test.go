package command

import (
	"path/filepath"
	"strings"
	"testing"
)

// Where nobody is in front of it, standard output is a journal that others read and keep.
func TestAwayFromATerminalTheFirstRunShowsNoSecret(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"text", "json"} {
		s := serveIn(t, t.TempDir(), "KEYSTILE_LOG_LEVEL=debug", "KEYSTILE_LOG_FORMAT="+format)
		s.child.out.Find(t, s.child.ended, "Ctrl-C stops it")
		p := firstRunOf(t, s.data)
		said := s.child.out.String() + s.child.log.String()
		for name, secret := range map[string]string{"password": p.Admin.Password, "client_secret": p.App.ClientSecret,
			"master key": masterKeyOf(t, s.data)} {
			if secret == "" || strings.Contains(said, secret) {
				t.Errorf("the %s is shown: %s", name, said)
			}
		}
		for _, want := range []string{"This was the first run", filepath.Join(s.data, "first-run.json"), "/demo"} {
			if !strings.Contains(s.child.out.String(), want) {
				t.Errorf("it does not say %q: %s", want, s.child.out)
			}
		}
	}
}
