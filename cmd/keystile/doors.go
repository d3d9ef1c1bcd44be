package main

import (
	"net/http"
	"strings"
)

// house is the one route table: the first door that fits a path is the room's. The last
// fits all. Rooms are given their paths whole and answer what they do not know.
type house []door

type door struct {
	path string
	room http.Handler
}

func (h house) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for _, d := range h {
		if d.fits(r.URL.Path) {
			d.room.ServeHTTP(w, r)
			return
		}
	}
}

func (d door) fits(path string) bool {
	rest, ok := strings.CutPrefix(path, d.path)
	return ok && (rest == "" || rest[0] == '/') || d.path == "/"
}
