// Package kept holds a whole service to what it promises of names (decision 100): a capability's name stays its last
// owner's, and what was granted under it never opens another's. It holds tests only.
package kept
