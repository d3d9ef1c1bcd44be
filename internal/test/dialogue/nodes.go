package dialogue

import "net/http"

// Nodes returns a handler that hands each request to the next of several nodes, as a balancer does that
// knows nothing of them, and calls settle after each. One node is that node.
func Nodes(settle func(), nodes ...http.Handler) http.Handler {
	if len(nodes) == 1 {
		return nodes[0]
	}
	turn := 0 // a dialogue sends one request after the other
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		nodes[turn%len(nodes)].ServeHTTP(w, r)
		turn++
		settle()
	})
}
