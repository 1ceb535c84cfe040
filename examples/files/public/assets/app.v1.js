document.querySelector('h1').textContent = `The page for ${location.pathname}`;
