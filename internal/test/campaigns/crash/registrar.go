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
	for l.alive() {
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
	app, err := r.makeApp("Crash", "enterprise")
	if err != nil {
		return err
	}
	r.journal.add(&thing{kind: anApp, name: app.ID, secret: app.Secret}, createApp)
	return nil
}

func (r *registrar) user() error {
	r.made++
	_, err := r.makeUser(fmt.Sprintf("user-%d", r.made))
	return err
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
	for l.alive() {
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
		l.done(asked, "setting set "+setting)
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
