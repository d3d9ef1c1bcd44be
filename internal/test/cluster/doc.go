// Command cluster runs several nodes while things go wrong.
package main
