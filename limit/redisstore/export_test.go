package redisstore

var (
	Slot        = slot
	Redirection = redirection
)
