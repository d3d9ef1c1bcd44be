// Package apps changes applications, for the gateway's endpoints and the administrator's commands
// alike. What may be done to one is for the application itself to say: see storage.App; what it
// costs, and how it is removed, for package gateway/billing.
package apps
