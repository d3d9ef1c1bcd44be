package connector

import (
	"errors"
	"strings"
	"testing"
)

// FuzzFinish gives each provider three answers of anybody's making.
func FuzzFinish(f *testing.F) {
	for _, name := range names {
		var bodies []string
		for _, step := range steps(name) {
			bodies = append(bodies, good(name)[step.path][step.nth].body)
		}
		bodies = append(bodies, "")
		f.Add(bodies[0], bodies[1], bodies[2], 200)
	}
	for _, a := range vectors(f) {
		f.Add(a.body, a.body, a.body, 200)
	}
	for _, s := range []string{"", "{}", "callback(", "callback( {} );", "\ufeff{\"a\":1}", "a=1&a=2", `{"error_response":0}`, `{"data":{"data":{}}}`} {
		f.Add(s, s, s, 400)
	}
	connectors, scripts := map[string]Connector{}, map[string]*cannedProvider{}
	for _, name := range names {
		connectors[name], scripts[name] = scripted(f, name, nil)
	}
	f.Fuzz(func(t *testing.T, one, two, three string, status int) {
		for _, name := range names {
			answers := map[string][]cannedResponse{}
			for i, step := range steps(name) {
				answers[step.path] = append(answers[step.path], cannedResponse{status, "", []string{one, two, three}[i]})
			}
			scripts[name].answers, scripts[name].requests = answers, nil
			p, err := connectors[name].Finish(t.Context(), back, returned(name))
			switch trouble := new(Trouble); {
			case err == nil:
				checkProfile(t, p, ids[name])
			case p.Subjects != nil || p.Nickname != "":
				t.Errorf("%s: %v beside %v", name, p, err)
			case !errors.As(err, &trouble) && !errors.Is(err, ErrCode) && !errors.Is(err, ErrDenied) &&
				!errors.Is(err, ErrStranger):
				t.Errorf("%s: an error of no kind: %v", name, err)
			case strings.Contains(err.Error(), secret):
				t.Errorf("%s: the secret is told: %v", name, err)
			}
		}
	})
}

func checkProfile(t *testing.T, p Profile, id string) {
	t.Helper()
	if len(p.Subjects) == 0 || len(p.Subjects) > 2 {
		t.Errorf("subjects %q", p.Subjects)
	}
	for _, s := range p.Subjects {
		if !isID(s[:min(len(s), maxID)]) || !strings.HasPrefix(s, "u:") && !strings.HasPrefix(s, "o:"+id+":") {
			t.Errorf("subject %q", s)
		}
	}
	if oneLine(p.Nickname) != p.Nickname || oneLine(p.Location) != p.Location || p.Avatar != "" && !loadable(p.Avatar) {
		t.Errorf("profile %q", p)
	}
	if p.Gender != "" && p.Gender != "male" && p.Gender != "female" {
		t.Errorf("gender %q", p.Gender)
	}
}
