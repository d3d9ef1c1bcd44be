// Package deploy has what operators watch and deploy Keystile with: a dashboard for Grafana, alert
// rules for Prometheus, and a Helm chart. Its tests run the dashboard's queries and the rules against a real
// Prometheus that watches two real nodes. README.md says how each is used.
package deploy
