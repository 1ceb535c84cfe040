package redisstore

var Slot = slot
