package command

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"time"
)

func TestConnectionOpenedInAdvanceDoesNotHoldUpTheStop(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := newServer(http.NotFoundHandler(), slog.New(slog.DiscardHandler))
	served := make(chan struct{})
	go func() { defer close(served); server.Serve(l) }()
	early, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer early.Close()
	get(t, http.DefaultClient, "http://"+l.Addr().String()) // it is accepted later, so the early one has been
	deadline, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	if err := server.Shutdown(deadline); err != nil { // alone it waits for five seconds
		t.Errorf("Shutdown() = %v", err)
	}
	<-served
}
