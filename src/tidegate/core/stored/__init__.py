"""What is kept between ticks and in recordings, as JSON and back."""
