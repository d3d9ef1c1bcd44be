// Package systemd speaks with the service manager that started the process, if one did: it takes the
// sockets that the manager holds (sd_listen_fds), says when the service is ready and when it stops, and
// that it is still alive (sd_notify). Everywhere else it does nothing.
//
// Sockets are known by their FileDescriptorName: public and admin. One that has neither name is the
// public one if it is alone.
package systemd
