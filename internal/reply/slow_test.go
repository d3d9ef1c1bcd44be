package reply_test

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/keystile/keystile/internal/connections"
	"github.com/keystile/keystile/internal/reply"
)

// Rooms take a body that they cannot read for one that broke off: it is damaged, or there is no form.
func TestBodyThatCameTooSlowlyIs408WhateverARoomTakesItFor(t *testing.T) {
	damaged := &reply.Failure{Status: 400, Msg: "the body broke off"}
	for _, err := range []error{damaged.Because(connections.ErrSlow), fmt.Errorf("reading: %w", connections.ErrSlow)} {
		w := httptest.NewRecorder()
		reply.Fail(slog.New(slog.DiscardHandler), w, httptest.NewRequest("POST", "/", nil), err, nil)
		if w.Code != http.StatusRequestTimeout || w.Header().Get("Connection") != "close" {
			t.Errorf("%v: answered %d %v", err, w.Code, w.Header())
		}
	}
	if f := reply.FailureOf(damaged.Because(errors.Join(io.ErrUnexpectedEOF))); f.Status != 400 {
		t.Errorf("a body that broke off is %d", f.Status)
	}
}
