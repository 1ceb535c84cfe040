// Package lease applies limits that several replicas of a program share. Their state is in a
// [Store], but a decision does not wait for it.
package lease
