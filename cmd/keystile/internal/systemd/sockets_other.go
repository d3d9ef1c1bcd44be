//go:build !unix

package systemd

// Sockets returns none: there is no such manager on this system.
func (m Manager) Sockets() (map[string]*Socket, error) { return nil, nil }
