package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
)

// registrar is a client of the admin socket: it makes applications and users.
type registrar struct {
	*life
	rand *rand.Rand
	made int
}

func (r *registrar) work(l *life) {
	r.life = l
	for !l.doomed.Load() {
		step := r.app
		if r.rand.IntN(8) == 0 { // a password costs as much as many applications
			step = r.user
		}
		if err := step(); err != nil {
			return
		}
	}
}

func (r *registrar) app() error {
	out, err := r.run("app create", []string{"name", "Crash", "domain", "localhost", "tier", "enterprise"})
	if err != nil {
		r.journal.lose(createApp) // its client_id is drawn by the server
		return err
	}
	var made struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
	}
	if json.Unmarshal([]byte(out.Output), &made) != nil || made.Secret == "" {
		r.journal.violated(nil, "app create is answered %+v", out)
		return errGone
	}
	r.journal.add(&thing{kind: anApp, name: made.ID, secret: made.Secret}, createApp)
	r.journal.acknowledge(&attempt{what: createApp})
	return nil
}

func (r *registrar) user() error {
	r.made++
	u := r.journal.add(&thing{kind: aUser, name: fmt.Sprintf("user-%d", r.made), secret: "a password of crash", ended: true}, "does not exist")
	asked := r.journal.begin(createUser, u)
	out, err := r.createUser(u)
	switch {
	case err != nil:
		return err
	case out.Error != "":
		r.journal.violated(u, "user create is answered %+v", out)
		return errGone
	}
	r.journal.acknowledge(asked)
	return nil
}

func (l *life) createUser(u *thing) (result, error) {
	return l.run("user create", []string{"username", u.name, "password", u.secret})
}

// setter is a client of the admin socket that changes one setting to and fro.
type setter struct {
	values [2]*thing
}

const setting = "service_config.oauth_force_pkce"

func newSetter(j *journal) *setter {
	return &setter{[2]*thing{
		j.add(&thing{kind: aSetting, name: "0"}, "the default of "+setting),
		j.add(&thing{kind: aSetting, name: "1", ended: true}, "not the default of "+setting),
	}}
}

func (s *setter) work(l *life) {
	for !l.doomed.Load() {
		next := s.values[0]
		if !next.ended {
			next = s.values[1]
		}
		asked := l.journal.begin(changeValue, s.values[:]...)
		out, err := l.run("setting set", nil, setting, next.name)
		if err != nil {
			return
		}
		if out.Error != "" {
			l.journal.violated(next, "setting set is answered %+v", out)
			return
		}
		l.journal.acknowledge(asked)
	}
}

// current reads the setting.
func (l *life) current() (string, error) {
	out, err := l.run("setting get", nil, setting)
	if err != nil {
		return "", err
	}
	var is struct{ Value string }
	err = json.NewDecoder(strings.NewReader(out.Output)).Decode(&is)
	return is.Value, err
}
