console.log("shop")
