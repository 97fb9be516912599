"""Trees as arrays: growing, splitting, binning and walking them; knows neither estimators nor scikit-learn."""
