package admin

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/internal/admin"
)

// Request names a command of the table and its arguments; the client sends it.
type Request struct {
	Command string   `json:"command"`
	Args    cli.Args `json:"args"`
	By      string   `json:"by"` // where it was typed, for the audit trail
}

// requestOf returns the Request of a command that was typed into this process.
func requestOf(command string, args cli.Args) Request {
	return Request{command, args, admin.CommandLine().Operator}
}

// Response holds the text to print, or the error.
type Response struct {
	Output string `json:"output,omitempty"`
	Error  string `json:"error,omitempty"`
	Usage  bool   `json:"usage,omitempty"` // the command was called wrongly
}

const (
	maxRequest = 1 << 20 // bytes

	// A copy of the database has a path of its own, because it is a stream and no text.
	copyPath = "/copy"
	copyType = "application/vnd.keystile.database"
)

// Handler runs commands for every client that reaches it: serve it on a private socket only.
func Handler(target Target, log *slog.Logger) http.Handler {
	s := server{target, log}
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { s.run(w, r, maxRequest) })
	mux.HandleFunc(documentPath, func(w http.ResponseWriter, r *http.Request) { s.run(w, r, maxDocument) })
	mux.HandleFunc(copyPath, s.copy)
	return mux
}

type server struct {
	target Target
	log    *slog.Logger
}

// run runs a command whose request has at most so many bytes.
func (s server) run(w http.ResponseWriter, r *http.Request, most int64) {
	var req Request
	var resp Response
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, most)).Decode(&req)
	if c, _ := find(req.Command); err == nil && most > maxRequest && !c.brings {
		err = fmt.Errorf("%q brings no document", req.Command)
	}
	if err == nil {
		resp.Output, err = execute(r.Context(), s.target.by(admin.Operator(req.By)), req.Command, req.Args)
		if req.Command != openToolsCommand { // a health check asks every few seconds
			s.log.InfoContext(r.Context(), "admin command", "command", req.Command, "ok", err == nil)
		}
	}
	if err != nil {
		var usage *cli.UsageError
		resp = Response{Error: err.Error(), Usage: errors.As(err, &usage)}
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(resp) // a client that has gone away is no failure of ours
}

// copy streams the database. An answer that is broken off cannot be taken for a whole one.
func (s server) copy(w http.ResponseWriter, r *http.Request) {
	if s.target.Copy == nil { // a command of another program than this server's
		http.Error(w, "this storage has no copies", http.StatusNotImplemented)
		return
	}
	w.Header().Set("Content-Type", copyType)
	n, err := s.target.Copy(w)
	s.log.InfoContext(r.Context(), "admin command", "command", "backup", "ok", err == nil, "bytes", n)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
}
