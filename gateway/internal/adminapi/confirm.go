package adminapi

import "net/http"

// ReadConfirm returns the field confirm: a name that was typed to say what a dangerous act is meant for.
func ReadConfirm(w http.ResponseWriter, r *http.Request) (typed string, err error) {
	f, err := ReadFields(w, r, "confirm")
	if err == nil {
		err = f.Read("confirm", "a text", &typed)
	}
	return typed, err
}
