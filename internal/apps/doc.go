// Package apps holds what the gateway's endpoints and the administrator's commands both do
// to an application. What may be done to one is for the application itself to say: see
// storage.App and storage.Order.
package apps
