package main

import (
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

// secretRotator rotates the secrets of an application, by itself and as its operator.
type secretRotator struct {
	*life
	rand    *rand.Rand
	app     *application // nil: a new one is to be made
	bearer  string
	secrets []*thing // that work
}

// maxSecrets of an application work at a time; the server ends the oldest of them at once where
// another one is asked for, so then all are ended here.
const maxSecrets = 2

func (k *secretRotator) work(l *life) {
	k.life = l
	for l.alive() {
		if err := k.step(); err != nil {
			k.app = nil // if it was rotated, nobody knows its secret
			return
		}
	}
}

func (k *secretRotator) step() error {
	if k.app == nil {
		return k.begin()
	}
	return k.rotate()
}

func (k *secretRotator) begin() (err error) {
	if k.app, err = k.makeApp("Keeper", "enterprise"); err != nil {
		return err
	}
	k.secrets = []*thing{k.journal.add(&thing{kind: aSecret, name: k.app.ID, secret: k.app.Secret}, createApp)}
	k.bearer, err = k.machine(k.app)
	return err
}

// rotate ends all secrets there are, or lets them work for a while beside the new one.
func (k *secretRotator) rotate() error {
	lasting, passing := k.sorted()
	overlap := []time.Duration{0, 0, 2 * time.Second, time.Hour}[k.rand.IntN(4)]
	if len(k.secrets) >= maxSecrets {
		overlap = 0
	}
	if overlap > 0 {
		passing, lasting = append(passing, lasting...), nil
	}
	asked := k.journal.begin(rotateSecret, lasting...)
	secret, proof, err := k.newSecret(overlap)
	if err != nil {
		if len(lasting) == 0 {
			k.journal.lose(rotateSecret)
		}
		k.journal.forget(passing...) // whether they end, and when, nobody can see
		return err
	}
	k.done(asked, proof)
	for _, t := range passing {
		k.journal.lasts(t, time.Now().Add(overlap))
	}
	k.secrets = append(k.secrets, k.journal.add(&thing{kind: aSecret, name: k.app.ID, secret: secret}, rotateSecret))
	return nil
}

// sorted divides the secrets that work by whether they end by themselves soon.
func (k *secretRotator) sorted() (lasting, passing []*thing) {
	for _, t := range k.secrets {
		switch left := time.Until(t.until); {
		case t.ended, !t.until.IsZero() && left < 0:
		case !t.until.IsZero() && left < 10*time.Minute:
			passing = append(passing, t)
		default:
			lasting = append(lasting, t)
		}
	}
	k.secrets = append(append([]*thing(nil), lasting...), passing...)
	return lasting, passing
}

func (k *secretRotator) newSecret(overlap time.Duration) (secret, proof string, err error) {
	if k.rand.IntN(2) == 0 {
		var app application
		err = k.made(&app, "app rotate-secret", []string{"overlap", overlap.String()}, k.app.ID)
		return app.Secret, "app rotate-secret " + k.app.ID, err
	}
	body := `{"overlap_seconds":` + strconv.Itoa(int(overlap.Seconds())) + `}`
	a, err := k.send(http.MethodPost, "/api/v1/apps/"+k.app.ID+"/secret", body, "Authorization", "Bearer "+k.bearer,
		"Content-Type", "application/json")
	if err != nil {
		return "", "", err
	}
	var got struct{ Data application }
	if json.Unmarshal(a.body, &got) != nil || got.Data.Secret == "" {
		k.journal.violated(nil, "a rotation is answered %v", a)
		return "", "", errGone
	}
	return got.Data.Secret, a.id(), nil
}
