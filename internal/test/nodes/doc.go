// Package nodes runs several services on one store: what one of them revokes or changes must hold at
// the others, also where the store is away for a while, or loses what it had. It holds tests only.
package nodes
