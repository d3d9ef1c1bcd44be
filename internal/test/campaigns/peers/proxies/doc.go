// Package proxies runs stock proxies before a service, with the configurations of examples/behind
// as they are committed: only addresses are replaced. The keystile program, in a process of its
// own, decides whom they let pass. It holds tests only.
//
// It also runs stock servers of PHP and CGI behind the program's own proxy: they make variables of
// the names of headers, and take one name for another.
//
// # Choices
//
// nginx, Caddy, PHP and lighttpd must be installed, or their tests are skipped, which the check of a
// clean checkout does not forgive. Traefik and Envoy are in no distribution that it uses:
// they keep the same promises if they are installed, and their files are read and judged
// wherever the tests run.
package proxies
