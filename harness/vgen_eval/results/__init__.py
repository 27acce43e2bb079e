"""Result cards: what one run came to, with all that is needed to believe and repeat it."""
