package driver

import "context"

// Shared is implemented by an adapter whose store other processes write to as well, such as that
// of a database server. Keystile then reads each second what they have revoked and changed, and
// refuses access tokens while it cannot. An adapter whose store belongs to one process, a file
// with a lock for example, does not implement it, and pays for none of that.
type Shared interface {
	// Listen calls hint soon after another process may have stored a revocation or a document of
	// KindEpoch, and once after it began to listen, because what came before went unheard. Hints
	// make the next read come sooner, nothing depends on them: one may be lost, or come for
	// nothing or for a write of this process. hint does not block.
	//
	// Listen returns when ctx ends. It returns nil before that if there is nothing to listen to:
	// then it is not called again. After an error it is, with growing pauses.
	Listen(ctx context.Context, hint func()) error
}

// KindEpoch is the kind of the documents that tell other processes which documents have changed.
// A Put that changes a document which processes cache holds one of them too. Of a Shared store
// only Revoke and such a Put are worth a notification; the other writes are too many.
const KindEpoch = "epoch"
