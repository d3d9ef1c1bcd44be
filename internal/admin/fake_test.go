package admin

import (
	"context"

	"github.com/keystile/keystile/storage/event"
)

type trail []event.Event

func (t *trail) NoteNow(_ context.Context, e event.Event) error { *t = append(*t, e); return nil }

type mailbox []event.Notice

func (m *mailbox) Notify(_ context.Context, _ string, n event.Notice) { *m = append(*m, n) }
