package systemd

import "net"

// Names of sockets.
const (
	Public = "public"
	Admin  = "admin"
)

// Socket is a listener whose socket the manager keeps open: who connects while nobody serves waits for
// the next process. It must not be shut down, only closed.
type Socket struct{ net.Listener }
